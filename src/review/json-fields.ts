/** Fields of answers that nobody promised us. */
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'

export const objectField = (value: Json | undefined, name: string): JsonObject => {
  const found = isJsonObject(value) ? value[name] : undefined
  return isJsonObject(found) ? found : {}
}

export const textField = (value: Json | undefined, name: string): string | undefined => {
  const found = isJsonObject(value) ? value[name] : undefined
  return typeof found === 'string' ? found : typeof found === 'number' ? String(found) : undefined
}

/** Milliseconds; what is no time is the beginning of all time. */
export const timeIn = (value: Json | undefined, name: string): number => {
  const at = Date.parse(textField(value, name) ?? '')
  return Number.isNaN(at) ? 0 : at
}

/** When a comment began to say what it says; 0 where that cannot be read, whatever is said of when it was made. */
export const updatedIn = (value: Json | undefined): number => {
  const at = timeIn(value, 'updated_at')
  return at <= 0 ? 0 : Math.max(at, timeIn(value, 'created_at'))
}
