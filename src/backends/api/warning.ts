/** Something a person should know that does not stop the work. */
export interface BackendWarning {
  readonly code: `W_${string}`
  readonly message: string
}

export type Warn = (warning: BackendWarning) => void
