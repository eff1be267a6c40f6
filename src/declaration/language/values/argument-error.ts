/** Arguments that a function cannot take; the words follow the function's name. Never quotes a value, which may be secret. */
export class ArgumentError extends TypeError {}
