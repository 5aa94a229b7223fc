//! Blending of a new colour with the previous one, as defined by OpenGL.

/// The blending of colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// The equation for red, green and blue.
    pub colour: Equation,
    /// The equation for alpha.
    pub alpha: Equation,
    /// The colour for the factors that use a constant.
    pub constant: [f32; 4],
}

/// The blending of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    /// The operation on both products.
    pub operation: Operation,
    /// The factor of the new value.
    pub source: Factor,
    /// The factor of the previous value.
    pub destination: Factor,
}

/// An enum whose variants have names in launch files.
macro_rules! named {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $choice_doc:literal])* $choice:ident = $text:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[doc = $choice_doc])* $choice,)* }

        impl $name {
            /// The names, in order.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// Returns the variant with this name.
            pub fn parse(name: &str) -> Option<$name> {
                match name {
                    $($text => Some($name::$choice),)*
                    _ => None,
                }
            }
        }
    };
}

named! {
    /// The combination of the new and the previous value.
    Operation {
        /// Their sum.
        Add = "add",
        /// The new value minus the previous one.
        Subtract = "subtract",
        /// The previous value minus the new one.
        ReverseSubtract = "reverse_subtract",
        /// The minimum, without factors.
        Min = "min",
        /// The maximum, without factors.
        Max = "max",
    }
}

named! {
    /// A factor; the source is the new colour, the destination the previous one.
    Factor {
        /// 0.
        Zero = "zero",
        /// 1.
        One = "one",
        /// The same channel of the source.
        SrcColour = "src_color",
        /// 1 minus the same channel of the source.
        OneMinusSrcColour = "one_minus_src_color",
        /// The same channel of the destination.
        DstColour = "dst_color",
        /// 1 minus the same channel of the destination.
        OneMinusDstColour = "one_minus_dst_color",
        /// Alpha of the source.
        SrcAlpha = "src_alpha",
        /// 1 minus alpha of the source.
        OneMinusSrcAlpha = "one_minus_src_alpha",
        /// Alpha of the destination.
        DstAlpha = "dst_alpha",
        /// 1 minus alpha of the destination.
        OneMinusDstAlpha = "one_minus_dst_alpha",
        /// The same channel of the constant.
        Constant = "constant_color",
        /// 1 minus the same channel of the constant.
        OneMinusConstant = "one_minus_constant_color",
        /// Alpha of the constant.
        ConstantAlpha = "constant_alpha",
        /// 1 minus alpha of the constant.
        OneMinusConstantAlpha = "one_minus_constant_alpha",
        /// The lesser of alpha of the source and 1 minus alpha of the destination; for the alpha channel, 1.
        SrcAlphaSaturate = "src_alpha_saturate",
    }
}

impl Blend {
    /// Blends `source` into `destination`. Both are within the range of the target's format.
    pub fn apply(&self, source: [f32; 4], destination: [f32; 4]) -> [f32; 4] {
        std::array::from_fn(|channel| {
            let equation = if channel == 3 { &self.alpha } else { &self.colour };
            let factor = |factor| self.factor(factor, channel, source, destination);
            let (new, old) = (source[channel], destination[channel]);
            let scaled = || (new * factor(equation.source), old * factor(equation.destination));
            match equation.operation {
                Operation::Add => scaled().0 + scaled().1,
                Operation::Subtract => scaled().0 - scaled().1,
                Operation::ReverseSubtract => scaled().1 - scaled().0,
                Operation::Min => new.min(old),
                Operation::Max => new.max(old),
            }
        })
    }

    fn factor(&self, factor: Factor, channel: usize, source: [f32; 4], destination: [f32; 4]) -> f32 {
        match factor {
            Factor::Zero => 0.0,
            Factor::One => 1.0,
            Factor::SrcColour => source[channel],
            Factor::OneMinusSrcColour => 1.0 - source[channel],
            Factor::DstColour => destination[channel],
            Factor::OneMinusDstColour => 1.0 - destination[channel],
            Factor::SrcAlpha => source[3],
            Factor::OneMinusSrcAlpha => 1.0 - source[3],
            Factor::DstAlpha => destination[3],
            Factor::OneMinusDstAlpha => 1.0 - destination[3],
            Factor::Constant => self.constant[channel],
            Factor::OneMinusConstant => 1.0 - self.constant[channel],
            Factor::ConstantAlpha => self.constant[3],
            Factor::OneMinusConstantAlpha => 1.0 - self.constant[3],
            Factor::SrcAlphaSaturate if channel == 3 => 1.0,
            Factor::SrcAlphaSaturate => source[3].min(1.0 - destination[3]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: [f32; 4] = [0.5, 1.0, 0.25, 0.75];
    const OLD: [f32; 4] = [1.0, 0.5, 0.0, 0.5];

    #[test]
    fn factors_are_those_of_the_colours() {
        // By name in their order: red and alpha of the factor, with a source of ones.
        let blend = |name: &str| {
            let factor = Factor::parse(name).unwrap();
            let blend = Blend {
                colour: Equation { operation: Operation::Add, source: factor, destination: Factor::Zero },
                alpha: Equation { operation: Operation::Add, source: factor, destination: Factor::Zero },
                constant: [0.125, 0.0, 0.0, 0.375],
            };
            let [red, _, _, alpha] = blend.apply(NEW, OLD);
            [red / NEW[0], alpha / NEW[3]]
        };
        let expected = [
            [0.0, 0.0],
            [1.0, 1.0],
            [0.5, 0.75],
            [0.5, 0.25],
            [1.0, 0.5],
            [0.0, 0.5],
            [0.75, 0.75],
            [0.25, 0.25],
            [0.5, 0.5],
            [0.5, 0.5],
            [0.125, 0.375],
            [0.875, 0.625],
            [0.375, 0.375],
            [0.625, 0.625],
            [0.5, 1.0],
        ];
        assert_eq!(Factor::NAMES.len(), expected.len());
        for (name, expected) in Factor::NAMES.iter().zip(expected) {
            assert_eq!(blend(name), expected, "{name}");
        }
    }

    #[test]
    fn operations_put_two_numbers_together() {
        let blend = |name: &str| {
            let operation = Operation::parse(name).unwrap();
            let equation = Equation { operation, source: Factor::SrcAlpha, destination: Factor::OneMinusSrcAlpha };
            let alpha = Equation { operation: Operation::Add, source: Factor::Zero, destination: Factor::One };
            Blend { colour: equation, alpha, constant: [0.0; 4] }.apply(NEW, OLD)
        };
        // Multiplied by the factors, the colours are 0.375, 0.75, 0.1875 and 0.25, 0.125, 0.
        assert_eq!(blend("add"), [0.625, 0.875, 0.1875, 0.5]);
        assert_eq!(blend("subtract"), [0.125, 0.625, 0.1875, 0.5]);
        assert_eq!(blend("reverse_subtract"), [-0.125, -0.625, -0.1875, 0.5]);
        assert_eq!(blend("min"), [0.5, 0.5, 0.0, 0.5]);
        assert_eq!(blend("max"), [1.0, 1.0, 0.25, 0.5]);
        assert_eq!(Operation::parse("multiply"), None);
    }
}
