/**
 * Values that several callers use for a short time. Start at {@link io.carillon.server.share.RecentValues}. It knows no
 * requests.
 */
@NullMarked
package io.carillon.server.share;

import org.jspecify.annotations.NullMarked;
