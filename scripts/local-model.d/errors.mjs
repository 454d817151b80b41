// Errors of the API, in the format of OpenAI-compatible servers.

export class ApiError extends Error {
  /** `extra` contains additional fields of the error object. */
  constructor(status, type, message, extra = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.extra = extra;
  }

  body() {
    return { error: { message: this.message, type: this.type, code: this.status, ...this.extra } };
  }
}

export const invalid = (message) => new ApiError(400, "invalid_request_error", message);
