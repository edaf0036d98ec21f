// In the place of Chart.js where it is not installed.
