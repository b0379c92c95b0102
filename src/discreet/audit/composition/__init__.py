"""What releases that show people's rows tell together, from their files alone."""
