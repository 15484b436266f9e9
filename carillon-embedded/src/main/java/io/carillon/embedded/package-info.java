/** PostgreSQL out of a jar. Knows nothing of schedules or runs: any test or tool may use it. */
@NullMarked
package io.carillon.embedded;

import org.jspecify.annotations.NullMarked;
