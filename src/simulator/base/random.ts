/** Repeatable chance. The state is one number, so that a snapshot of the world takes it along. */
export interface RandomState {
  seed: number
}

/** The next number in [0, 1) (mulberry32). */
export function draw(state: RandomState): number {
  state.seed = (state.seed + 0x6d2b79f5) | 0
  let t = Math.imul(state.seed ^ (state.seed >>> 15), 1 | state.seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

export const drawHex = (state: RandomState, digits: number): string =>
  Array.from({length: digits}, () => Math.floor(draw(state) * 16).toString(16)).join('')

export function drawUuid(state: RandomState): string {
  const hex = drawHex(state, 30)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`
}

/** Milliseconds of a fixed or ranged duration. */
export function drawDuration(state: RandomState, duration: number | {readonly min: number; readonly max: number}): number {
  if (typeof duration === 'number') return duration
  return Math.round(duration.min + draw(state) * (duration.max - duration.min))
}

/** The same text always gives the same number. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash | 0
}

export function shuffled<T>(items: readonly T[], state: RandomState): T[] {
  const out = [...items]
  for (let at = out.length - 1; at > 0; at--) {
    const other = Math.floor(draw(state) * (at + 1))
    const a = out[at]
    const b = out[other]
    if (a === undefined || b === undefined) continue
    out[at] = b
    out[other] = a
  }
  return out
}
