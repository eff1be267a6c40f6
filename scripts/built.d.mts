export const LAST_BUILT: string
export function isBuilt(root: string): boolean
