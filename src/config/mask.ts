/** A secret as a person may see it, to tell it from another one. */

/** Never more than the last four characters, and of a short secret none: `****************wxyz`. */
export function mask(secret: string): string {
  const shown = secret.length >= 12 ? secret.slice(-4) : ''
  return '*'.repeat(8) + shown
}
