/** Chance as a parameter: ids, salts and lineages are repeatable in tests. */
import {randomBytes} from 'node:crypto'

/** `count` bytes nobody can foresee. */
export type RandomBytes = (count: number) => Uint8Array

export const systemRandom: RandomBytes = count => randomBytes(count)

export const randomHex = (random: RandomBytes, bytes: number): string => Buffer.from(random(bytes)).toString('hex')

/** A random (version 4) UUID. */
export function randomUuid(random: RandomBytes): string {
  const bytes = Uint8Array.from(random(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
