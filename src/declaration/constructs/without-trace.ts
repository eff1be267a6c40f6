/**
 * Makes cdktf tokens without the stack trace that cdktf records in each: formatting it costs more than all the rest of
 * a token, once through source maps for every reference of every object.
 */
export function withoutTrace<T>(make: () => T): T {
  const format = Error.prepareStackTrace
  Error.prepareStackTrace = () => ''
  try {
    return make()
  } finally {
    Error.prepareStackTrace = format
  }
}
