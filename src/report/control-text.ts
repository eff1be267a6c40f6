/** Holds and freezes as tables. */
import type {FreezeInForce, Hold} from '../engine/model/controls.ts'
import {fieldColumns, table} from './table.ts'

export const holdTable = (holds: readonly Hold[], widest: number | undefined): Promise<string> =>
  table(holds, fieldColumns('stack', 'address', 'until', 'by', 'reason'), widest)

export const freezeTable = (freezes: readonly (FreezeInForce & {readonly place: string})[], widest: number | undefined): Promise<string> =>
  table(
    freezes,
    [
      {title: 'id', value: it => it.id},
      {title: 'of', value: it => (it.stack === undefined ? (it.account ?? 'the account') : `stack ${it.stack}`)},
      {title: 'until', value: it => it.until},
      {title: 'strict', value: it => (it.strict ? 'yes' : 'no')},
      ...fieldColumns('by', 'reason'),
      {title: 'kept in', value: it => it.place},
    ],
    widest,
  )
