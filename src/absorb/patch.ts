/** The edits as a unified diff, for `git apply` and for people. */
import {createTwoFilesPatch} from 'diff'

/** @param files - paths relative to the folder the patch is applied in */
export const unifiedDiff = (files: readonly {readonly file: string; readonly before: string; readonly after: string}[]): string =>
  files
    .map(({file, before, after}) =>
      createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, {context: 3}).replace(/^=+\n/, ''),
    )
    .join('')
