/** `ENOENT`, `EEXIST`, … of an error the operating system caused; `undefined` for every other one. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
