/**
 * The default payload codec: records as JSON, written by Jackson. Start at {@link
 * io.carillon.internal.json.JsonCodec}. Depends on the value packages and Jackson; no other package of the library
 * depends on Jackson.
 */
@NullMarked
package io.carillon.internal.json;

import org.jspecify.annotations.NullMarked;
