/** The routes of {@code /v1}: each reads a request, does one thing by the front door in one transaction, and shows what is there now. Start at Api. */
@NullMarked
package io.carillon.server.api;

import org.jspecify.annotations.NullMarked;
