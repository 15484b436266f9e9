package io.carillon.it.walls;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.List;
import java.util.Set;

/** Measures the share of public types in internal packages, which other packages use through a few types. */
public final class PublicShare {

    /** The largest allowed share, in percent. */
    static final int LIMIT = 45;
    /** Smaller packages are not checked: one public type of two is already 50 %. */
    static final int FEWEST_TYPES = 4;

    private static final Set<String> INTERNAL_PACKAGES = Set.of("engine", "postgres");

    private PublicShare() {}

    /** Returns one line for each internal package with too many public types. */
    public static List<String> violations(JavaClasses classes) {
        return classes.stream()
                .map(JavaClass::getPackageName)
                .distinct()
                .sorted()
                .filter(name -> PackageRule.nameFor(name)
                        .filter(INTERNAL_PACKAGES::contains)
                        .isPresent())
                .flatMap(name -> violation(name, topLevel(classes, name)).stream())
                .toList();
    }

    private static List<String> violation(String packageName, List<JavaClass> types) {
        List<String> publicTypes = types.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getSimpleName)
                .sorted()
                .toList();
        if (types.size() < FEWEST_TYPES || publicTypes.size() * 100 <= LIMIT * types.size()) {
            return List.of();
        }
        return List.of("%s has %d public types of %d, more than %d %%: %s"
                .formatted(packageName, publicTypes.size(), types.size(), LIMIT, publicTypes));
    }

    private static List<JavaClass> topLevel(JavaClasses classes, String packageName) {
        return classes.stream()
                .filter(type -> type.getPackageName().equals(packageName))
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .toList();
    }
}
