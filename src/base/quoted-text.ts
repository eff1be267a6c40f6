/**
 * A text in quotes, as Terraform writes one: `${` and `%{` doubled, for they begin a template, and nothing that JSON or HCL
 * refuses within quotes. The one spelling of an instance's key: an address that a stack makes is the one that its ledger reads.
 */

/** `${` and `%{` as text. */
export const escapeTemplate = (text: string): string => text.replace(/[$%]\{/g, mark => `${mark[0]}${mark}`)

const NAMED: Readonly<Record<string, string>> = {'"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t'}

const escaped = (mark: string): string => NAMED[mark] ?? `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`

/** What stands between the quotes. */
export const quoteText = (text: string): string => escapeTemplate(text.replace(/["\\\p{Cc}\p{Cs}]/gu, escaped))

export const quote = (text: string): string => `"${quoteText(text)}"`
