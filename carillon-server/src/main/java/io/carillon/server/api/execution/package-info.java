/**
 * The execution of a run on behalf of a request. Start at {@link io.carillon.server.api.execution.ExecutionRoute}. It
 * uses the transactions of {@code api}, which does not know this package.
 */
@NullMarked
package io.carillon.server.api.execution;

import org.jspecify.annotations.NullMarked;
