/** The forms in which a result can be written: `-o json|yaml|table|text`. */
import {type ExactJson, stringifyExactJson} from '../base/lossless-json.ts'
import {tableOf} from './table.ts'
import {visible} from './terminal-text.ts'

export const OUTPUT_FORMATS = ['json', 'yaml', 'table', 'text'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export const isOutputFormat = (text: string): text is OutputFormat => (OUTPUT_FORMATS as readonly string[]).includes(text)

/** For programs: a document on standard output, also when the command fails. */
export const isDocumentFormat = (format: OutputFormat): format is 'json' | 'yaml' => format === 'json' || format === 'yaml'

/** What a command answers: the document, and how people should see it. */
export interface Presentation {
  /** `-o text`, the default, for who wants it made of the document as it is shown. Absent: as `-o table`. */
  readonly text?: (shown: () => ExactJson) => string | Promise<string>
  /** The text is JSON too: secrets are hidden in the values it is given, and not in it as in prose. */
  readonly isDocument?: boolean
  /** `-o table`, with cells of at most `widest` columns. Absent: columns are taken from the document. */
  readonly table?: (widest?: number) => string | Promise<string>
}

/** As `renderShown`, of a document that is there. */
export const renderOutput = (document: ExactJson, format: OutputFormat, presentation?: Presentation, widest?: number): Promise<string> =>
  renderShown(() => document, format, presentation, widest)

/**
 * @param shown - the document without its secrets; a large one is not looked through for a text that is made otherwise
 * @param widest - columns a cell of a table may take, on a terminal
 * @returns text that ends with a newline; empty when there is nothing to say
 */
export async function renderShown(
  shown: () => ExactJson,
  format: OutputFormat,
  presentation: Presentation = {},
  widest?: number,
): Promise<string> {
  const table = presentation.table ?? (() => tableOf(shown(), widest))
  switch (format) {
    case 'json':
      return `${stringifyExactJson(shown(), 2)}\n`
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(shown())
    case 'table':
      return ended(await table(widest))
    case 'text':
      return ended(await (presentation.text === undefined ? table(widest) : presentation.text(shown)))
  }
}

/** Whatever wrote it: nothing in it acts on a terminal but our own colours. */
function ended(text: string): string {
  const shown = visible(text)
  return shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`
}
