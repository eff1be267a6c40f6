/** Variables as the process got them. */
export type ProcessVariables = Readonly<Record<string, string | undefined>>
