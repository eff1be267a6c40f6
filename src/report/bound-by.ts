/** What a length of time is bound by. It may name an object, and that has the name which somebody gave it. */
import {oneLine} from './terminal-text.ts'

export const boundBy = (bound: string): string => `bound by ${oneLine(bound)}`
