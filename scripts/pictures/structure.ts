/** What a picture shows, without the words that differ from one making to the next: by this a picture is known to be old. */
import type {Documents} from './documents.ts'

export interface Structure {
  readonly comment: readonly string[]
  readonly page: readonly string[]
}

/** Of the comment its headings, the names of its rows and columns, and what is folded; of the page its elements that have a name. */
export function structureOf({comment, page}: Documents): Structure {
  return {
    comment: comment.split('\n').flatMap(line => {
      if (line.startsWith('#')) return [line]
      const row = /^\| (?<name>[A-Z][^|`]*) \|/.exec(line)?.groups?.name
      if (row !== undefined) return [line.startsWith('| Object |') ? line : `| ${row}`]
      const folded = /<summary>(.*)<\/summary>/.exec(line)?.[1]
      return folded === undefined ? [] : [folded]
    }),
    page: [...page.replace(/<(style|script)>[\s\S]*?<\/\1>/g, '').matchAll(/<(h1|h2|dt|th|section|form|svg|details)(?: ([^>]*))?>([^<]*)/g)]
      .map(([, tag = '', attributes = '', text = '']) => `${tag}${/class="([^"]*)"/.exec(attributes)?.[1] ?? ''} ${text}`.trim())
      .filter((it, at, all) => it !== all[at - 1]),
  }
}
