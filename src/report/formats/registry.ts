/** The forms of `--report`. A new one is a file with a `ReportFormat`, and a line here; none is loaded before it is used. */
import type {ReportFormat} from '../report-format.ts'

const FORMATS = {
  markdown: async () => (await import('./markdown.ts')).markdownFormat,
  github: async () => (await import('./github.ts')).githubFormat,
  gitlab: async () => (await import('./gitlab.ts')).gitlabFormat,
  html: async () => (await import('./html/page.ts')).htmlFormat,
  junit: async () => (await import('./junit.ts')).junitFormat,
} as const satisfies Readonly<Record<string, () => Promise<ReportFormat>>>

export type ReportFormatName = keyof typeof FORMATS

export const REPORT_FORMATS = Object.keys(FORMATS) as readonly ReportFormatName[]

export const isReportFormat = (name: string): name is ReportFormatName => Object.hasOwn(FORMATS, name)

export const loadFormat = (name: ReportFormatName): Promise<ReportFormat> => FORMATS[name]()
