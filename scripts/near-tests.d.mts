export function testsNear(changed: readonly string[], exists: (path: string) => boolean): string[] | undefined
