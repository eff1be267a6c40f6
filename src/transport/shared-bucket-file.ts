/** The file of a shared budget. Rewritten as a whole under its lock; losing it loses a minute's knowledge and no more. */

import {closeSync, fstatSync, openSync, renameSync, rmSync, writeFileSync, writeSync} from 'node:fs'
import {parseAnyJson} from '../base/bounded-json.ts'
import {isJsonObject, type JsonObject} from '../base/json.ts'
import type {LockHolder} from '../base/process-lock.ts'
import {isAbsent, systemCode} from '../base/system-code.ts'
import {isNotKept, readKeptFileSync} from '../base/whole-file.ts'
import type {AccountBucket, RateLimits} from './account-bucket.ts'

const FORMAT = 'svcctl.budget/1'
/** Room for thousands of members. */
const LARGEST_BYTES = 16_777_216
/** Some members more than there are now. */
const LONGEST_REST = 10_000

/** A process that spends from the bucket. */
export interface Member extends LockHolder, RateLimits {
  readonly outstanding: number
  /** It had more to send than tokens. */
  readonly wants: boolean
  /** ms since the epoch. */
  readonly seenAt: number
}

export interface SharedBucket {
  readonly bucket: AccountBucket
  readonly members: readonly Member[]
}

export type ReadBucket =
  | {readonly state: 'read'; readonly shared: SharedBucket}
  | {readonly state: 'absent'}
  | {readonly state: 'damaged'; readonly because: string}

/** @throws the system's error, but for a file that is not there */
export function readSharedBucket(file: string): ReadBucket {
  try {
    return {state: 'read', shared: parse(parseAnyJson(readKeptFileSync(file, LARGEST_BYTES).toString()))}
  } catch (error) {
    if (isAbsent(error)) return {state: 'absent'}
    if (systemCode(error) !== undefined && !isNotKept(error)) throw error
    return {state: 'damaged', because: error instanceof Error ? error.message : String(error)}
  }
}

/**
 * Not flushed to the disk: after a power cut nobody is in flight any more. A file that is there is written over where it
 * lies: some file systems flush one that is put in the place of another, or cut to nothing, which takes milliseconds; and
 * what a crash leaves half written is made anew.
 */
export function writeSharedBucket(file: string, {bucket, members}: SharedBucket, id: string): void {
  // JSON has no infinity: "never told" is null.
  const toldAt = Number.isFinite(bucket.toldAt) ? bucket.toldAt : null
  const text = JSON.stringify({format: FORMAT, ...bucket, toldAt, members})
  if (!writtenOver(file, text)) writeAside(file, text, id)
}

/** @returns whether there was a file; where the new text is shorter, spaces end it */
function writtenOver(file: string, text: string): boolean {
  let opened: number
  try {
    opened = openSync(file, 'r+')
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
  try {
    const bytes = Buffer.from(text)
    const rest = Math.max(0, fstatSync(opened).size - bytes.length)
    // A file that somebody filled would stay so for ever.
    if (rest > LONGEST_REST) return false
    writeSync(opened, Buffer.concat([bytes, Buffer.alloc(rest, ' ')]), 0, undefined, 0)
    return true
  } finally {
    closeSync(opened)
  }
}

function writeAside(file: string, text: string, id: string): void {
  const aside = `${file}.${id}.new`
  try {
    writeFileSync(aside, text, {mode: 0o600})
    renameSync(aside, file)
  } catch (error) {
    rmSync(aside, {force: true})
    throw error
  }
}

// By hand and not by a schema: this is on the way of every command, and a schema library would be its largest cost.
function parse(value: unknown): SharedBucket {
  if (!isJsonObject(value) || value.format !== FORMAT) throw new TypeError(`it is no ${FORMAT}`)
  const {learnedPerMinute, tells, toldAt, members} = value
  if (!Array.isArray(members)) throw new TypeError('it has no members')
  return {
    bucket: {
      at: numberAt(value, 'at'),
      // Whatever somebody wrote into it: nobody waits for more than a burst, or at a limit below one request.
      own: Math.max(0, numberAt(value, 'own')),
      server: Math.max(0, numberAt(value, 'server')),
      learnedPerMinute: learnedPerMinute === undefined ? undefined : Math.max(1, positiveAt(value, 'learnedPerMinute')),
      serverBurst: Math.max(1, positiveAt(value, 'serverBurst')),
      pausedUntil: numberAt(value, 'pausedUntil'),
      margin: numberAt(value, 'margin'),
      marginAt: numberAt(value, 'marginAt'),
      drained: numberAt(value, 'drained'),
      outstanding: numberAt(value, 'outstanding'),
      answered: numberAt(value, 'answered'),
      tells: typeof tells === 'boolean' ? tells : undefined,
      toldAt: toldAt === null ? Number.NEGATIVE_INFINITY : numberAt(value, 'toldAt'),
      doubtful: value.doubtful === true,
    },
    members: members.map(parseMember),
  }
}

function parseMember(value: unknown): Member {
  if (!isJsonObject(value)) throw new TypeError('a member is no object')
  return {
    id: textAt(value, 'id'),
    who: textAt(value, 'who'),
    since: textAt(value, 'since'),
    host: textAt(value, 'host'),
    pid: positiveAt(value, 'pid'),
    start: textAt(value, 'start'),
    pidSpace: textAt(value, 'pidSpace'),
    perMinute: positiveAt(value, 'perMinute'),
    burst: positiveAt(value, 'burst'),
    reserve: numberAt(value, 'reserve'),
    outstanding: numberAt(value, 'outstanding'),
    wants: value.wants === true,
    seenAt: numberAt(value, 'seenAt'),
  }
}

function numberAt(object: JsonObject, name: string): number {
  const value = object[name]
  // JSON reads 1e999 as one that is never reached.
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`"${name}" is no number`)
  return value
}

function positiveAt(object: JsonObject, name: string): number {
  const value = numberAt(object, name)
  if (value <= 0) throw new TypeError(`"${name}" is not positive`)
  return value
}

function textAt(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw new TypeError(`"${name}" is no text`)
  return value
}
