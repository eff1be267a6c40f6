/**
 * Holds and freezes as a document: `svcctl.controls/1`. In a file it stands by itself; behind Terraform's HTTP state
 * protocol it is an output of a state that has nothing else, because that is what such servers keep.
 */
import {z} from 'zod'
import {parseJson} from '../base/bounded-json.ts'
import {isOver} from '../base/deadline.ts'
import {asJson, isJsonObject, type Json} from '../base/json.ts'
import {judge} from '../base/judge.ts'
import type {Agreed, Controls, Freeze, Hold} from '../engine/model/controls.ts'

export const CONTROLS_FORMAT = 'svcctl.controls/1'

/** More than this nobody said one by one: of each sort, and in all. */
export const MOST_ENTRIES = 10_000
export const LARGEST_BYTES = 8_388_608

export const LONGEST_REASON = 1_000

/** One line: it is printed beside lines of ours. */
const line = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^\P{Cc}*$/u)
const moment = z.iso.datetime({offset: true})
const agreed = {
  by: line(200).describe('who said so'),
  until: moment.describe('counts no more from then on'),
  reason: line(LONGEST_REASON),
  at: moment.describe('when it was said'),
}

export const freezeSchema = z.strictObject({
  id: z.string().regex(/^[\w-]{1,64}$/),
  stack: line(LONGEST_REASON).exactOptional().describe('absent: the account'),
  ...agreed,
  strict: z.boolean().describe('--break-glass does not pass it'),
})

export const holdSchema = z.strictObject({
  stack: line(LONGEST_REASON),
  address: line(LONGEST_REASON),
  kind: line(LONGEST_REASON),
  remoteId: z.string().exactOptional().describe('the object, whatever address it goes by later'),
  ...agreed,
})

export const controlsSchema = z.strictObject({
  format: z.literal(CONTROLS_FORMAT),
  serial: z.int().nonnegative().describe('one more with each change'),
  freezes: z.array(freezeSchema).max(MOST_ENTRIES),
  holds: z.array(holdSchema).max(MOST_ENTRIES),
})

/** As published in `schemas/`. */
export const controlsJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(controlsSchema, {unrepresentable: 'any'}),
  title: 'Holds and freezes of svcctl',
  description: 'What stands in `<ledger>.controls.json`, and behind http as the output `controls` of a state.',
})

/** It is there, and it is not what svcctl wrote. In words that follow "cannot be read: ". */
export class NoControlsError extends Error {}

/** @throws NoControlsError */
export function controlsIn(document: unknown): Controls {
  if (!isJsonObject(document) || typeof document.format !== 'string') throw new NoControlsError('it is no document of controls')
  if (document.format !== CONTROLS_FORMAT)
    throw new NoControlsError(
      `it is of another version (${JSON.stringify(document.format.slice(0, 40))}; this program knows ${CONTROLS_FORMAT})`,
    )
  const {success, data, error} = judge(controlsSchema, document)
  if (success) return data
  const [issue] = error.issues
  throw new NoControlsError(`${issue?.path.map(String).join('.') || 'it'}: ${issue?.message ?? 'not as it should be'}`)
}

/** @throws NoControlsError */
export function parseControls(content: string): Controls {
  let document: unknown
  try {
    document = parseJson(content)
  } catch {
    throw new NoControlsError('it is no JSON')
  }
  return controlsIn(document)
}

/** Sorted, so that the same controls are the same bytes. */
export const controlsDocument = ({serial, freezes, holds}: Controls): Json =>
  asJson({
    format: CONTROLS_FORMAT,
    serial,
    freezes: freezes.toSorted(by(it => it.id)),
    holds: holds.toSorted(by(it => `${it.stack}:${it.address}`)),
  })

const by =
  <T>(text: (it: T) => string) =>
  (a: T, b: T): number =>
    text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0

/** Without what is over. */
export const inForce = ({serial, freezes, holds}: Controls, nowMs: number): Controls => ({
  serial,
  freezes: freezes.filter(it => !isOver(it.until, nowMs)),
  holds: holds.filter(it => !isOver(it.until, nowMs)),
})

/** As long as this behind the clock that writes, another machine's may be. */
const LATELY_MS = 86_400_000

/**
 * What was edited, with what is over by the clock that wrote it, and was not long ago: by another machine's it may hold still.
 *
 * @param before - all that was there
 */
export function withLatelyOver(edited: Controls, {freezes, holds}: Controls, nowMs: number): Controls {
  const isLatelyOver = ({until}: Agreed) => isOver(until, nowMs) && !isOver(until, nowMs - LATELY_MS)
  return {
    ...edited,
    freezes: [...edited.freezes, ...freezes.filter(isLatelyOver)],
    holds: [...edited.holds, ...holds.filter(it => isLatelyOver(it) && !edited.holds.some(one => isSame(one, it)))],
  }
}

/** An object has one hold: the last word counts. */
export const withAddedHolds = (controls: Controls, added: readonly Hold[]): Controls => ({
  ...controls,
  holds: [...controls.holds.filter(it => !added.some(one => isSame(one, it))), ...added],
})

export const isSame = (a: Pick<Hold, 'address' | 'remoteId'>, b: Pick<Hold, 'address' | 'remoteId'>): boolean =>
  a.remoteId !== undefined && b.remoteId !== undefined ? a.remoteId === b.remoteId : a.address === b.address

export const withFreeze = (controls: Controls, added: Freeze): Controls => ({
  ...controls,
  freezes: [...controls.freezes.filter(it => it.id !== added.id), added],
})
