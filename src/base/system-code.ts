/** `ENOENT`, `EEXIST`, … of an error the operating system caused; `undefined` for every other one. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Whether it is because there is no such file or folder. */
export const isAbsent = (error: unknown): boolean => systemCode(error) === 'ENOENT'
