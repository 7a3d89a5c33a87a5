"""Sound over frequency in reports: results and panels that several kinds of cases share."""
