/**
 * What time it is where an answer comes from. Clocks differ, by hours where one of them is wrong: a time that a server
 * names is compared with its own, and never with ours.
 */

/** `Date` counts whole seconds, and an answer is on its way for a while: so little says nothing. */
const NOTHING_MS = 2_000

/**
 * How far the server's clock is ahead of ours.
 *
 * @param headers - names in lower case
 * @returns `undefined` where the answer does not say, or somebody in between had kept it
 */
export function aheadMs({date, age}: Readonly<Record<string, string>>, now: number): number | undefined {
  const ahead = age === undefined && date !== undefined ? Date.parse(date) - now : Number.NaN
  if (Number.isNaN(ahead)) return undefined
  return Math.abs(ahead) <= NOTHING_MS ? 0 : ahead
}
