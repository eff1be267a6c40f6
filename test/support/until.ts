import {vi} from 'vitest'

/** Until something is so, however busy the machine is. A look costs what the check costs: no assertion, and no error to throw away. */
export const until = (check: () => boolean): Promise<boolean> => vi.waitUntil(check, {interval: 5, timeout: 60_000})
