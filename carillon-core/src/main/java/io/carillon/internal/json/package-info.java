/**
 * The default payload codec: records as JSON, written by the Jackson of the application. Start at {@link
 * io.carillon.internal.json.JsonCodec}. Only Jackson3 uses Jackson 3; only Jackson2 and DepthLimit use Jackson 2.
 * Depends on the value packages and Jackson; no other package of the library depends on Jackson.
 */
@NullMarked
package io.carillon.internal.json;

import org.jspecify.annotations.NullMarked;
