"""An application for spark-submit: a zip of Penstock, what it needs and the jobs, and the script that runs them."""
