"""Anything to OpenVINO IR in the model store; one file a source or a step."""
