"""The kernel-independent level: equivalent sources on cubes around small boxes (Ying, Biros, Zorin 2004)."""
