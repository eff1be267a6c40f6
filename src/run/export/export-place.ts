/** The folder that an export goes into: what is there already, and whose it is. */
import {existsSync, readdirSync, statSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {AppError, EXIT} from '../../base/errors.ts'
import {isNotKept, readKeptFileSync} from '../../base/whole-file.ts'
import {isUnedited} from '../../export/banner.ts'

/** There is something in the folder, and nobody said that it may be replaced. */
export class ExportExistsError extends AppError {
  constructor(dir: string, isFolder: boolean) {
    super(isFolder ? `${dir} is not empty` : `${dir} is no folder`, {
      code: 'E_EXPORT_EXISTS',
      exit: EXIT.usage,
      suggestions: [
        isFolder
          ? 'Name an empty folder, or one that is not there yet. What an earlier export wrote there and nobody edited is replaced by the same command with --overwrite.'
          : 'Name an empty folder, or one that is not there yet.',
      ],
    })
  }
}

/** Somebody has edited what an earlier export wrote. */
export class ExportEditedError extends AppError {
  constructor(dir: string, files: readonly string[]) {
    super(`these files of ${dir} were edited since they were exported: ${files.join(', ')}; nothing was written`, {
      code: 'E_EXPORT_EDITED',
      exit: EXIT.refused,
      problems: files.map(message => ({message})),
      suggestions: ['Export into another folder, and take over from there what is new.'],
    })
  }
}

export interface ExportPlace {
  readonly dir: string
  /** Where cdktf.json stands and ledgers lie. */
  readonly project: string
  /** A cdktf.json stands above: the folder is a part of another project. */
  readonly isWithin: boolean
}

/** @throws ExportExistsError */
export function exportPlace(dir: string, overwrite: boolean): ExportPlace {
  if (existsSync(dir)) {
    if (!statSync(dir).isDirectory()) throw new ExportExistsError(dir, false)
    if (!overwrite && readdirSync(dir).length > 0) throw new ExportExistsError(dir, true)
  }
  const above = projectAbove(dirname(dir))
  return {dir, project: above ?? dir, isWithin: above !== undefined}
}

function projectAbove(folder: string): string | undefined {
  if (existsSync(join(folder, 'cdktf.json'))) return folder
  return dirname(folder) === folder ? undefined : projectAbove(dirname(folder))
}

/**
 * Files of an earlier export that are no part of this one, and that nobody has edited.
 * @param files - paths of this export
 * @throws ExportEditedError naming every file that was edited
 */
export function outdatedFiles({dir}: ExportPlace, files: readonly string[]): readonly string[] {
  if (!existsSync(dir)) return []
  const edited = files.filter(path => {
    const text = textOf(join(dir, path))
    return text !== undefined && !isUnedited(text)
  })
  if (edited.length > 0) throw new ExportEditedError(dir, edited)
  return ['.', 'stacks']
    .flatMap(folder =>
      existsSync(join(dir, folder)) ? readdirSync(join(dir, folder)).map(name => (folder === '.' ? name : `${folder}/${name}`)) : [],
    )
    .filter(path => !files.includes(path) && isUnedited(textOf(join(dir, path)) ?? ''))
}

/** What is far too large, or cannot be read to its end, is nothing that an export wrote: no text of one. */
function textOf(path: string): string | undefined {
  if (!existsSync(path) || !statSync(path).isFile()) return undefined
  try {
    return readKeptFileSync(path).toString()
  } catch (error) {
    if (isNotKept(error)) return ''
    throw error
  }
}
