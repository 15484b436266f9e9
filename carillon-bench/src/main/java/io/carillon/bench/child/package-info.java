/**
 * Other processes: a {@link io.carillon.bench.child.Child} is started here and answers lines with lines; {@link io.carillon.bench.child.ChildMain} is what runs
 * in it. Nothing here decides what is measured.
 */
@NullMarked
package io.carillon.bench.child;

import org.jspecify.annotations.NullMarked;
