/**
 * Whether a comment still shows a plan as it was written. Whoever may write to a repository can change the comments of others,
 * and a reviewer approves what stands there: the mark says which plan it should be, and only its text which one was shown.
 */

/** What a plan that is made anew says otherwise, and what names the file; nobody approves it. */
const VARYING: readonly RegExp[] = [
  /^\| Cost \| [\p{L}\p{N} .,:;()+-]* \|$/u,
  /^(?:Apply|Refused as it is\. When it is not): (?:`[^`<>]*`|<code>[^<>]*<\/code>)$/,
  /^Approve: `--approve [0-9a-f]+(?:@[0-9a-f]+)?`$/,
]

/** What it is about is compared elsewhere: another run may write less of the commit. */
const MARK = /^<!-- svcctl key=[0-9a-f]+ run=\d+ hash=(?:[0-9a-f]+|-) commit=(?:[0-9a-f]+|-) -->/

/**
 * @param written - how it is written now, by whatever run
 * @param hide - hides secrets in either: whoever wrote the comment may have known fewer
 */
export function isAsWritten(shown: string, written: string, hide: (text: string) => string): boolean {
  const [theirs, ours] = [linesOf(shown, hide), linesOf(written, hide)]
  return theirs.length === ours.length && ours.every((line, i) => isSame(theirs[i] ?? '', line))
}

const isSame = (theirs: string, ours: string): boolean => theirs === ours || VARYING.some(it => it.test(theirs) && it.test(ours))

/** Freezes come and go meanwhile, and an apply looks for them itself. */
const FROZEN = /\*\*Frozen\*\*: (?:[^|<>`*]*|`[^`<>|]*`|<code>[^<>|]*<\/code>)(?:<br>|(?= \|$))/g

const unfrozen = (line: string): string => {
  if (line.startsWith('### ')) return line.replace(/: refused \(([^()]*)\)$/, ': $1')
  return line.startsWith('| Guards | ') ? line.replace(FROZEN, '').replace(/^\| Guards \|\s+\|$/, '| Guards | none |') : line
}

/** Hosts take blanks away from the end, and may end lines as browsers do. */
const linesOf = (text: string, hide: (text: string) => string): string[] =>
  hide(text.trim().replace(MARK, ''))
    .split(/\r?\n/)
    .map(it => unfrozen(it.trimEnd()))
