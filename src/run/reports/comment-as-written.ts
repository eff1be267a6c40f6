/**
 * Whether a comment still shows a plan as it was written. Whoever may write to a repository can change the comments of others,
 * and a reviewer approves what stands there: the mark says which plan it should be, and only its text which one was shown.
 */

/** What a plan that is made anew says otherwise, and what names the file; nobody approves it. */
const VARYING: readonly RegExp[] = [
  /^\| Cost \| [\p{L}\p{N} .,:;()+-]* \|$/u,
  /^(?:Apply|Refused as it is\. When it is not): (?:`[^`<>]*`|<code>[^<>]*<\/code>)$/,
]

/** @param written - how it is written now, by whatever run */
export function isAsWritten(shown: string, written: string): boolean {
  const [theirs, ours] = [linesOf(shown), linesOf(written)]
  return theirs.length === ours.length && ours.every((line, i) => isSame(theirs[i] ?? '', line))
}

const isSame = (theirs: string, ours: string): boolean => theirs === ours || VARYING.some(it => it.test(theirs) && it.test(ours))

/** Hosts take blanks away from the end, and may end lines as browsers do. The run is compared elsewhere. */
const linesOf = (text: string): string[] =>
  text
    .trim()
    .replace(/^(<!-- svcctl key=[0-9a-f]+ run=)\d+ /, '$1')
    .split(/\r?\n/)
    .map(it => it.trimEnd())
