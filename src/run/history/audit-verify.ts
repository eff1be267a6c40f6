/** `svcctl audit verify`: whether audits are as they were written. No request is sent. */
import {resolve} from 'node:path'
import type {ChainHead} from '../../audit/entry.ts'
import {AuditBrokenError} from '../../audit/errors.ts'
import {linesOf} from '../../audit/lines.ts'
import {type CheckedChain, type CheckedFile, checkChain, checkFile, type Gap, type LedgerWord} from '../../audit/verify.ts'
import {UsageError} from '../../base/usage-error.ts'
import {auditPath} from '../audit/audit-chain.ts'
import type {LedgerDesk} from '../workspace/ledger-desk.ts'
import {checkedFile, ledgerWords} from './audit-read.ts'

export interface VerifiedChain {
  readonly stack: string
  readonly files: readonly {readonly file: string; readonly lines: number; readonly torn: boolean}[]
  /** The last line that is here. */
  readonly head: ChainHead | null
  /** What the ledger knows; `null` where it says nothing of an audit. */
  readonly ledger: ChainHead | null
  readonly lines: number
  /** Lines that the ledger does not know yet. */
  readonly ahead: number
  /** Lines that are not here. */
  readonly gaps: readonly Gap[]
  /** Lines that are here and not in the chain. */
  readonly beside?: readonly ChainHead[]
}

export interface VerifyWish {
  /** Files of audits; none: those of the stacks. */
  readonly files: readonly string[]
  readonly stacks: readonly string[]
  /** A hash that the chain must have, or its beginning. */
  readonly head: string | undefined
}

interface Chain {
  readonly stack: string
  readonly files: readonly CheckedFile[]
  readonly word: LedgerWord | undefined
}

/** @throws AuditBrokenError, AuditReadError, UsageError */
export async function verifyAudits(desk: LedgerDesk, {files, stacks, head}: VerifyWish): Promise<VerifiedChain[]> {
  const wanted = head === undefined ? undefined : headIn(head)
  const chains = files.length === 0 ? await ofStacks(desk, stacks) : await ofFiles(desk, files, stacks)
  if (wanted !== undefined && chains.length !== 1)
    throw new UsageError(`--head is the last line of one stack, and ${chains.length} audits are looked at`, [
      'Name the stack: --stack NAME, or the file.',
    ])
  const checked = chains.map(it => ({...it, chain: checkChain(it.files, it.word, wanted)}))
  const faults = checked.flatMap(({stack, chain: {fault}}) =>
    fault === undefined ? [] : [{...fault, what: fault.path ?? `stack ${stack}`}],
  )
  if (faults.length > 0) throw new AuditBrokenError(faults)
  return checked.map(verified)
}

function verified({stack, files, word, chain}: Chain & {readonly chain: CheckedChain}): VerifiedChain {
  return {
    stack,
    files: files.map(({path, links, torn}) => ({file: path, lines: links.length, torn})),
    head: chain.head ?? null,
    ledger: word === undefined ? null : {seq: word.seq, hash: word.hash},
    lines: chain.lines,
    ahead: chain.ahead,
    gaps: chain.gaps,
    ...(chain.beside && {beside: chain.beside}),
  }
}

/** As `apply` prints it. @throws UsageError */
function headIn(text: string): string {
  const hash = text.trim().toLowerCase()
  if (/^[0-9a-f]{12,64}$/.test(hash)) return hash
  throw new UsageError(`--head ${text}: a hash has 64 digits, and at least 12 of them are needed`, [
    'Take it from the output of an apply: Audit: STACK NUMBER HASH.',
  ])
}

async function ofStacks(desk: LedgerDesk, names: readonly string[]): Promise<Chain[]> {
  const known = await ledgerWords(desk, desk.chosen(names))
  return known.flatMap(({stack, word}): Chain[] => {
    const file = checkedFile(auditPath(desk.host, stack))
    return file === undefined && word === undefined ? [] : [{stack, files: file ? [file] : [], word}]
  })
}

/** Those of one stack are one audit; the ledger of that stack counts where it is of the same history. */
async function ofFiles(desk: LedgerDesk, names: readonly string[], stacks: readonly string[]): Promise<Chain[]> {
  const all = desk.chosen(stacks)
  const paths = names.map(it => resolve(desk.host.cwd, it))
  const known = await ledgerWords(desk, all, paths)
  const files = paths.map((path, at) => checkFile({path: names[at] ?? path, lines: linesOf(path)}))
  const byStack = new Map<string, CheckedFile[]>()
  for (const file of files) {
    const stack = file.links[0]?.stack ?? stackIn(file.path)
    byStack.set(stack, [...(byStack.get(stack) ?? []), file])
  }
  return [...byStack].map(([stack, own]) => {
    const word = known.find(it => it.stack === stack)?.word
    const isItsOwn = own.some(({links}) => links.length === 0 || links.some(it => it.lineage === word?.lineage))
    return {stack, files: own, word: isItsOwn ? word : undefined}
  })
}

/** Where no line can be read the name says it. */
const stackIn = (path: string): string => /([^/\\]+?)(?:\.jsonl)?$/.exec(path)?.[1] ?? path
