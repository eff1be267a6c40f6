/** A list for people: all of it, or an error. */
import {AppError, EXIT} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import type {Reader, RequestOptions} from '../../engine/model/backend.ts'

/** The object a list belongs to is not there. */
export class NoSuchListError extends AppError {
  constructor(path: string) {
    super(`GET ${path}: there is nothing to list, the object it belongs to does not exist`, {
      code: 'E_NO_SUCH_LIST',
      exit: EXIT.notFound,
      suggestions: ['Check the ids, for example with `svcctl cloud subscriptions`.'],
    })
  }
}

/**
 * Every row of one list, proven whole by its own pages where that can be; a list that cannot be is warned about by the reader.
 * @throws NoSuchListError when the parent does not exist
 */
export async function wholeList(reader: Reader, path: string, options?: RequestOptions): Promise<readonly JsonObject[]> {
  const request = {method: 'GET', path} as const
  const listing = await reader.list(request, options)
  if (listing === undefined) throw new NoSuchListError(path)
  // A list that was read on the way here may be longer, and be cut at another length.
  if (listing.rows.length === 0 && listing.proven) return listing.rows
  await reader.prove({...options, path, alone: true})
  return (await reader.list(request, options))?.rows ?? []
}
