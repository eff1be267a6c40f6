/** What a format is: a name, and what it makes of a report. Where the pieces go is the caller's to know. */
import type {Report} from './report.ts'

/**
 * `place`: the file that was named, or standard output. The others are where a CI job looks: its summary page, its
 * outputs, its log (standard output).
 */
export type PieceTarget = 'place' | 'job summary' | 'job output' | 'log'

export interface ReportPiece {
  readonly to: PieceTarget
  readonly text: string
}

export interface ReportFormat {
  /** @param folder - from the root of the repository to the folder of the stacks: `''` or `infra` */
  readonly render: (report: Report, folder: string) => readonly ReportPiece[] | Promise<readonly ReportPiece[]>
}
