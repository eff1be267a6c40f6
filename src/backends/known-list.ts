/** A list of an API, as far as its rows cannot be told from the body alone: data, beside the kinds or in their files. */
export interface KnownList {
  /** Below the API's address, with `*` for each id: `/subscriptions/*` + `/databases`. */
  readonly path: string
  /** Names the array may have; its own name in camel case is always one. */
  readonly arrays?: readonly string[]
  /** Field names of a row's id, the most specific first; `id` is always one. */
  readonly ids?: readonly string[]
  /** A row without an id is shown all the same, and known by its name or its content: nobody manages what is in here. */
  readonly onlyShown?: boolean
}
