import type {Problem} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import type {Source} from '../../engine/model/declaration.ts'
import {keyOf} from '../../engine/model/value.ts'
import {DeclarationError, ExpressionError} from '../language/values/errors.ts'
import {sourceField} from './stack-document.ts'

/** Where a problem is: an object of a stack, or a named part of it. */
export interface SourcePlace {
  readonly stack: string
  readonly address: string
  readonly source: Source
}

const MOST = 1000

/** Collects what is wrong, so that all of it is said at once; and what is only worth a warning. */
export class Problems {
  readonly all: Problem[] = []
  readonly warnings: {readonly stack: string; readonly text: string}[] = []

  /**
   * @param path - JSON pointer in the spec
   * @throws DeclarationError when there are more than anybody reads: what is wrong a hundred thousand times is wrong once
   */
  add({stack, address, source}: SourcePlace, message: string, path?: string): void {
    if (this.all.length === MOST) throw new DeclarationError(this.all, {more: true})
    this.all.push({address: keyOf(stack, address), ...(path === undefined ? {} : {path}), message, ...sourceField(source)})
  }

  warn({stack, address}: SourcePlace, text: string): void {
    this.warnings.push({stack, text: `${address}: ${text}`})
  }

  /**
   * Runs an evaluation; what it cannot do becomes a problem.
   * @returns `undefined` when it did
   */
  try<T>(place: SourcePlace, written: Json, run: () => T, path?: string): T | undefined {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      const hint = error.suggestions.length > 0 ? `. ${error.suggestions.join(' ')}` : ''
      this.add(place, `${excerpt(written)}, character ${error.at + 1}: ${error.message}${hint}`, path)
      return undefined
    }
  }
}

function excerpt(written: Json): string {
  const text = typeof written === 'string' ? written : JSON.stringify(written)
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}…` : text)
}
