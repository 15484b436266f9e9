/** The smallest words every room shares: names, public ids, cleaned text and the one exception. Knows nothing but the JDK. */
@NullMarked
package io.carillon.value;

import org.jspecify.annotations.NullMarked;
