/** Code of the error that a connection ends with whose answers passed a bound. */
export const TOO_LARGE_CODE = 'ATOLL_REPLY_TOO_LARGE';
