"""Projects: a folder of jobs with one `penstock.conf`.

penstock.conf ──read──▶ Project ──compile jobs──▶ JobGraph ──select──▶ jobs in dependency order
"""
