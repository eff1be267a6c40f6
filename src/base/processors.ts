/** How many processors work at once on what takes one of them a while. */
import {availableParallelism} from 'node:os'

/** Each of them holds some 16 MiB meanwhile. */
const MOST = 16

export const processorsAtWork = (there = availableParallelism()): number => Math.min(MOST, there)
