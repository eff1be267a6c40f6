/**
 * Sizes. One API counts gigabytes, the other bytes; whatever converts between them, or reads a size a person wrote,
 * does it here and nowhere else.
 */
import {AppError, EXIT} from './errors.ts'

/** Powers of 1000 are written kB, MB, GB, TB; powers of 1024 KiB, MiB, GiB, TiB. */
const BYTES_PER_UNIT = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
} as const

export type SizeUnit = keyof typeof BYTES_PER_UNIT

/** What a size looks like in a stack: `'4GiB'`, `'512 MB'`. */
export type SizeText = `${number}${SizeUnit}` | `${number} ${SizeUnit}`

/** A size whose unit is missing or unknown, or that is no whole number of bytes. */
export class SizeError extends AppError {
  constructor(text: string, reason: string) {
    super(`${JSON.stringify(text)} is not a size: ${reason}`, {
      code: 'E_SIZE',
      exit: EXIT.usage,
      suggestions: [`Write a number and one of ${Object.keys(BYTES_PER_UNIT).join(', ')}: 4GiB is 4294967296 bytes, 4GB is 4000000000.`],
    })
  }
}

/**
 * The bytes of a size as people write it: `4GiB` is 4 294 967 296, `1.5 GB` is 1 500 000 000.
 *
 * A bare number has no unit and is refused: the two APIs would read it differently.
 *
 * @throws SizeError
 */
export function parseSizeBytes(text: string): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(text)
  if (!match) throw new SizeError(text, 'it is not a number followed by a unit')
  const [, amount = '', unit = ''] = match
  if (unit === '') throw new SizeError(text, 'it has no unit')
  if (!isSizeUnit(unit)) throw new SizeError(text, `${unit} is not a unit of size`)
  const bytes = Number(amount) * BYTES_PER_UNIT[unit]
  if (!Number.isSafeInteger(bytes)) throw new SizeError(text, 'it is not a whole number of bytes')
  return bytes
}

const isSizeUnit = (text: string): text is SizeUnit => Object.hasOwn(BYTES_PER_UNIT, text)

/** A size for people, in powers of 1024 with at most one decimal: `4 GiB`, `1.5 MiB`, `900 B`. */
export function formatSizeBytes(bytes: number): string {
  for (const unit of ['TiB', 'GiB', 'MiB', 'KiB'] as const) {
    const amount = bytes / BYTES_PER_UNIT[unit]
    if (amount >= 1) return `${Number(amount.toFixed(1))} ${unit}`
  }
  return `${bytes} B`
}
