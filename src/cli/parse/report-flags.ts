/** What `--report` asks for: forms, and the files they go to. Checked before anything is read. */
import {existsSync} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {placeToWrite} from '../../base/file-place.ts'
import {nearest} from '../../base/nearest.ts'
import {UsageError} from '../../base/usage-error.ts'
import {isReportFormat, REPORT_FORMATS} from '../../report/formats/registry.ts'
import type {ReportWish} from '../../run/reports/reports.ts'
import {Flags} from './oclif.ts'

export const reportFlags = {
  report: Flags.string({
    summary: `also write a report: ${REPORT_FORMATS.join(', ')}; without a file on standard output`,
    helpGroup: 'OUTPUT',
    helpValue: '<format>[=<file>]',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

/**
 * @param documents - whether `-o` or `-q` puts a document on standard output
 * @param cwd - where relative paths begin
 * @throws UsageError
 */
export function reportWishes(words: readonly string[], documents: boolean, cwd: string): ReportWish[] {
  const wishes = words.map(word => wishOf(word, cwd))
  const onStdout = wishes.filter(it => it.file === undefined)
  // Annotations of a job go to standard error where a document stands on standard output; nothing else can.
  const alone = onStdout.filter(it => !documents || it.format !== 'github')
  if (onStdout.length > 1 || (documents && alone.length > 0)) {
    const both = documents ? [...alone.map(it => `--report ${it.format}`), '-o'] : onStdout.map(it => `--report ${it.format}`)
    throw new UsageError(`standard output takes one of ${both.join(', ')}`, [
      `Give the others a file: --report ${alone.at(-1)?.format ?? 'markdown'}=FILE`,
    ])
  }
  const files = wishes.flatMap(it => it.file ?? [])
  const twice = files.find((it, at) => files.indexOf(it) !== at)
  if (twice !== undefined) throw new UsageError(`two reports would be written to ${twice}`, ['Give each report a file of its own.'])
  return wishes
}

function wishOf(word: string, cwd: string): ReportWish {
  const [, format = '', file] = /^([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? []
  if (!isReportFormat(format)) {
    const close = nearest(format, REPORT_FORMATS)
    throw new UsageError(`--report ${JSON.stringify(word)}: there is no report ${JSON.stringify(format)}`, [
      close === undefined ? `Take one of ${REPORT_FORMATS.join(', ')}.` : `Did you mean --report ${close}?`,
    ])
  }
  if (file === undefined) return {format}
  if (file === '') throw new UsageError(`--report ${word} names no file`, [`Write --report ${format}=FILE, or --report ${format}.`])
  if (!existsSync(resolve(cwd, dirname(file))))
    throw new UsageError(`--report ${word}: there is no folder ${dirname(file)}`, ['Make the folder first, or name another file.'])
  // What cannot hold a report is refused before anything is read.
  placeToWrite(file, cwd)
  return {format, file}
}
