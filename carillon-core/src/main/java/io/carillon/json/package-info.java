/** The default payload codec: records as JSON by Jackson. Start at {@link io.carillon.json.JsonCodec}. The only room that knows Jackson. */
@NullMarked
package io.carillon.json;

import org.jspecify.annotations.NullMarked;
