// How our server differs from the official one on purpose.

export const intended = [];
